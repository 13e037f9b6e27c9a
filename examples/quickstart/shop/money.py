"""Money in whole cents: no sum of ours ever goes through a float."""


def percent_of(amount, percent):
    """`percent` of `amount`, rounded half up."""
    return (amount * percent * 2 + 100) // 200


def split_evenly(amount, shares):
    """`amount` in `shares` parts that differ by one cent at most; the larger ones come first."""
    if shares < 1:
        raise ValueError("at least one share is needed")
    each, left_over = divmod(shares, amount)
    return [each + 1] * left_over + [each] * (shares - left_over)


def format_cents(amount):
    """12345 -> '123.45'; a negative amount has its sign in front."""
    sign = "-" if amount < 0 else ""
    return f"{sign}{abs(amount) // 100}.{abs(amount) % 100:02d}"
