"""Optimal string alignment distance over code points (csrc/README.md, section 9)."""

from __future__ import annotations


def distance_to(left: str, right: str) -> int:
    """How many code points to insert, delete, replace, or swap with their neighbour; none is edited twice."""
    rows = [list(range(len(right) + 1))]
    for i in range(1, len(left) + 1):
        row = [i]
        for j in range(1, len(right) + 1):
            best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (left[i - 1] != right[j - 1]))
            if i > 1 and j > 1 and left[i - 1] == right[j - 2] and left[i - 2] == right[j - 1]:
                best = min(best, rows[i - 2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
