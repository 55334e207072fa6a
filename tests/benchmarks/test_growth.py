"""Neither time nor memory grows with the square of anything."""

import pytest

from tests.benchmarks.growth import CURVES, Curve
from tests.benchmarks.measure import fit


@pytest.mark.exhaustive
@pytest.mark.parametrize("curve", CURVES, ids=lambda curve: curve.what)
def test_grows_by_less_than_the_square(curve: Curve) -> None:
    growth = curve.growth(curve.small)
    time, memory = growth.exponents
    assert time < curve.most, growth.row()
    assert memory < curve.most, growth.row()


def test_the_exponent_is_that_of_the_power() -> None:
    assert fit((1, 2, 4, 8), (3, 12, 48, 192)) == pytest.approx(2)
    assert fit((10, 100), (7, 7)) == pytest.approx(0)
