from neardup.index.hamming import costs


def test_costs_are_measured_in_a_moment(monkeypatch):
    """On small tables: every step of a measurement, in little time."""
    monkeypatch.setattr(costs, "LARGE", costs.MANY * 16)
    monkeypatch.setattr(costs, "SMALL", costs.MANY * 4)
    measured = costs.measured_costs()
    assert 0 < measured.probe < 1000
    assert measured.spread >= 0
    assert 0 <= measured.compare < 10
