import numpy as np
import pytest
import torch
from hypothesis import settings

settings.register_profile("equipoise", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("equipoise")
torch.set_num_threads(1)  # tensors here are small: a second thread only spins, for seconds where the machine is busy


@pytest.fixture(autouse=True)
def _seeded():
    torch.manual_seed(0)
    np.random.seed(0)  # noqa: NPY002  # scikit-learn draws from numpy's global generator where none is given
