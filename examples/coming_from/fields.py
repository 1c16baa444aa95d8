"""The arrays that the tasks store."""

import numpy as np

u = np.random.default_rng(1).random((100, 200))
v = np.random.default_rng(2).random((100, 200))
rounded = np.round(u)
