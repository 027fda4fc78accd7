"""The store that most tests of the query layer ask."""

from __future__ import annotations

import pytest
from query_store import Store, make_store


@pytest.fixture(scope="session")
def store() -> Store:
    """A handful of sections in several scripts."""
    return make_store(
        [
            ("Deploying", "Use kubernetes to deploy the database. Set rate_limit in src/foo_bar.py of fooBar.bazQux."),
            ("Configuration", "Edit the configuration file and set the authentication token."),
            ("Queues", "A bounded queue drops messages; std::vector is not a queue. Rate it, limit it."),
            ("数据库索引", "数据库索引是提高查询性能的重要手段。配置数据的方法如下。"),
            ("食べ物", "データベースの設定をする方法。"),
            ("Дом", "Собаки бегают по дому."),
            ("The who", "The who and the what."),
        ]
    )
