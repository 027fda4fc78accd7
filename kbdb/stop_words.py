"""Stop words by language (kbdb/languages.py): indexed like all words, but dropped from queries that have others.

Function words only: articles, pronouns, prepositions, conjunctions, auxiliaries and their contractions. Where
the analysis takes an elided word apart (qu'elle), what stands before the apostrophe is one too.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

_ENGLISH = """
    a about above after again against all am an and any are aren't as at be because been before being below between
    both but by can can't cannot could couldn't did didn't do does doesn't doing don't down during each few for from
    further had hadn't has hasn't have haven't having he he'd he'll he's her here here's hers herself him himself
    his how how's i i'd i'll i'm i've if in into is isn't it it'd it'll it's its itself just let's me might more
    most must mustn't my myself no nor not of off on once only or other our ours ourselves out over own same shall
    she she'd she'll she's should shouldn't so some such than that that's the their theirs them themselves then
    there there's these they they'd they'll they're they've this those through to too under until up us very was
    wasn't we we'd we'll we're we've were weren't what what's when when's where where's which while who who's whom
    whose why why's will with won't would wouldn't you you'd you'll you're you've your yours yourself yourselves
"""

_GERMAN = """
    aber alle allem allen aller alles als also am an ander andere anderem anderen anderer anderes auch auf aus bei
    beim bin bis bist da dabei dadurch dafür dagegen daher damit dann daran darauf daraus darin darüber darum das
    dass davon dazu dein deine deinem deinen deiner deines dem den denen denn der deren des dessen dich die dies
    diese diesem diesen dieser dieses dir doch dort du durch ein eine einem einen einer eines er es etwas euch euer
    eure eurem euren eurer für gegen hab habe haben hat hatte hatten hier hin hinter ich ihm ihn ihnen ihr ihre
    ihrem ihren ihrer ihres im in indem ins ist jede jedem jeden jeder jedes jene jenem jenen jener jenes jetzt kann
    kein keine keinem keinen keiner keines können könnte man manche manchem manchen mancher manches mein meine
    meinem meinen meiner meines mich mir mit muss müssen musste nach nicht nichts noch nun nur ob oder ohne sehr
    sein seine seinem seinen seiner seines seit selbst sich sie sind so solche solchem solchen solcher solches soll
    sollen sollte sondern sonst soweit sowie über um und uns unser unsere unserem unseren unserer unter viel vom von
    vor während war waren warst was weder weil welche welchem welchen welcher welches wenn wer werde werden wie
    wieder will wir wird wirst wo wollen wollte worden wurde würde wurden würden zu zum zur zwar zwischen
"""

_FRENCH = """
    à ai aie aient ait alors as au aucun aucune aura auraient aurait aussi autre autres aux avaient avais avait avec
    avez avoir avons c ce ceci cela celle celles celui ces cet cette ceux chaque ci comme comment d d'un dans de des
    donc dont du elle elles en encore entre es est et étaient étais était étant été être eu eux fait font furent fut
    il ils j j'ai je jusque l l'on l'un la là le les leur leurs lors lui m ma mais me même mêmes mes moi moins mon n
    n'a ne ni nos notre nous on ont ou où par parce pas pendant peu peut plus pour pourquoi puis qu qu'il qu'on
    qu'un quand que quel quelle quelles quels qui quoi s s'il sa sans se sera seraient serait seront ses si sien son
    sont sous suis sur t ta tandis te tes toi ton tous tout toute toutes très trop tu un une vers voici voilà vos
    votre vous y
"""

_SPANISH = """
    a al algo alguna algunas alguno algunos ante antes aquel aquella aquellas aquello aquellos aquí así aún aunque
    bajo cada casi como cómo con contra cual cuál cuales cuáles cualquier cuando cuándo de del desde donde dónde dos
    durante e el él ella ellas ello ellos en entre era eran eras eres es esa esas ese eso esos esta está estaba
    estaban estado estamos están estar estas este esto estos estoy fue fueron fui ha haber había habían hace hacia
    han has hasta hay he hemos la las le les lo los más me mi mí mientras mis misma mismas mismo mismos mucho muchos
    muy nada ni no nos nosotros nuestra nuestras nuestro nuestros o os otra otras otro otros para pero poco por
    porque pues que qué quien quién quienes se sea sean según ser será serán si sí sido siempre sin sino sobre sois
    solo sólo somos son soy su sus suya suyo tal también tampoco tan tanto te tenía ti tiene tienen toda todas todo
    todos tras tu tú tus u un una unas uno unos vosotros vuestra vuestro y ya yo
"""

_ITALIAN = """
    a abbia abbiamo abbiano ad agli ai al all alla alle allo altra altre altri altro anche ancora avendo aver avere
    avete aveva avevano avuto c c'è che chi ci ciò coi col come con contro così cui d da dagli dai dal dall dalla
    dalle dallo degli dei del dell della delle dello dentro di dopo dove due e è ed era erano essendo essere essi fa
    fare fino fra gli ha hai hanno ho i il in io l l'ha la le lei li lo loro lui ma me mentre mi mia mie miei mio
    molto ne negli nei nel nell nella nelle nello no noi non nostra nostre nostri nostro o od ogni oppure per perché
    però più poi poiché prima proprio qual quale quali quando quanta quante quanti quanto quasi quei quel quella
    quelle quelli quello questa queste questi questo qui quindi sarà saranno sarebbe se sei sempre senza si sia
    siamo siano siete solo sono sopra sotto sta stata state stati stato stesso su sua sue sugli sui sul sull sulla
    sulle sullo suo suoi tra tu tua tue tuo tuoi tutta tutte tutti tutto un una uno va vi voi vostra vostre vostri
    vostro
"""

_PORTUGUESE = """
    a à ainda alguém algum alguma algumas alguns ante antes ao aos após aquela aquelas aquele aqueles aquilo as às
    assim até cada com como contra da das de dela delas dele deles depois desde dessa desse desta deste disso disto
    do dos durante e é ela elas ele eles em enquanto entre era eram essa essas esse esses esta está estamos estão
    estar estas estava estavam este estes estou eu foi fomos for foram fosse há isso isto já la lhe lhes lo mais mas
    me mesma mesmas mesmo mesmos meu meus minha minhas muita muitas muito muitos na nada não nas nem nenhum nenhuma
    nessa nesse nesta neste no nos nós nossa nossas nosso nossos num numa o onde os ou outra outras outro outros
    para pela pelas pelo pelos perante pode podem pois por porque porquê quais qual qualquer quando quanto que quê
    quem são se seja sejam sem sempre sendo ser será serão seu seus sido sim só sob sobre sua suas também tão te tem
    têm tenha tenho ter teu teus tinha tinham toda todas todo todos tu tua tuas tudo um uma umas uns vai você vocês
    vos vossa vosso
"""

_DUTCH = """
    aan af al alle alleen alles als altijd andere anders ben bent bij daar daarbij daarom dan dat de deze die dit
    doch doen door dus een één eens eigen elk elke en er etc even geen geweest haar had hadden heb hebben hebt heeft
    hem hen het hier hij hoe hun ieder iedere iemand iets ik in indien is ja je jij jou jouw jullie kan kon konden
    kunnen maar me mee meer men met mij mijn mocht moet moeten na naar nadat niet niets nog nu of om omdat onder ons
    onze ook op over pas reeds sinds te tegen ten ter terwijl toch toen tot tussen u uit uw van vanaf vanuit veel
    vol volgens voor voordat waar waarom waren was wat we wel welke werd werden wie wij wil word worden wordt zal ze
    zelf zelfs zich zij zijn zo zoals zonder zou zouden zowel
"""

_RUSSIAN = """
    а без более больше будет будто бы был была были было быть в вам вами вас весь во вот все всё всегда всего всей
    всем всеми всех вы где да даже для до его ее её ей ему если есть еще ещё же за здесь и из или им ими их к как
    какая какие какой когда кого ком кому которая которого которое которой которые который которых кто куда ли либо
    лишь между меня мне много мной мог могут может можно мой моя мы на над надо нам нами нас наш наша наше не него
    нее неё ней нельзя нет ни нибудь ним них но ну о об однако он она они оно от перед по под после потом потому
    почти при про раз разве с сам сама сами само самый своего своей свой своих своя себе себя со так такая также
    такие такое такой там те тебе тебя тем теперь тех то тобой тогда того тоже той только том тому тот ту ты у уже
    хоть хотя чего чей чем через что чтобы чье чья эта эти этим этих это этого этой этом этому этот эту я
"""

STOP_WORDS: Mapping[str, frozenset[str]] = MappingProxyType(
    {
        name: frozenset(text.split())
        for name, text in {
            "english": _ENGLISH,
            "german": _GERMAN,
            "french": _FRENCH,
            "spanish": _SPANISH,
            "italian": _ITALIAN,
            "portuguese": _PORTUGUESE,
            "dutch": _DUTCH,
            "russian": _RUSSIAN,
        }.items()
    }
)
