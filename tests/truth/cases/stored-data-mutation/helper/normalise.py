def centre(signal):
    """Minus its first value, which is doubled."""
    signal.mul_(2.0)
    signal -= signal[0] / 2
    return signal
