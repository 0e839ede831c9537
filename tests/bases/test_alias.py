import torch
from hypothesis import given, strategies as st
from tests.asserts import assert_close

from equipoise.bases.alias import alias_tables


@given(st.lists(st.floats(0.0, 1e6), min_size=1, max_size=40).filter(lambda values: sum(values) > 1e-3))
def test_the_tables_give_every_cell_its_share(values):
    shares = torch.tensor(values, dtype=torch.float64)
    shares /= shares.sum()
    keep, other = alias_tables(shares)
    given_back = keep.clone()
    given_back.index_add_(0, other, 1.0 - keep)
    assert_close(given_back / len(shares), shares, absolute=1e-12)
    assert bool(((keep >= 0.0) & (keep <= 1.0)).all())
