"""Sums of fp16 products as NVDLA's hardware forms them, digit by digit, for tests.

Written number by number with Python's integers, from the description of the MAC array and the
accumulator; the code under test works on arrays.
"""

WORD = 0xFFFFFFFF
MANTISSA = (1 << 40) - 1
DIGITS = {0: 0, 1: 1, 2: 1, 3: 2, 4: -2, 5: -1, 6: -1, 7: 0}


def parts(bits: int) -> tuple[int, int, int]:
    """Return sign, exponent and mantissa of an fp16 number."""
    return bits >> 15, bits >> 10 & 31, bits & 1023


def add_in_two_parts(numbers: list[int]) -> list[int]:
    """Return two numbers with the sum of all, as carry-save adders leave them."""
    while len(numbers) > 2:
        a, b, c = numbers[:3]
        carry = (a & b) | (b & c) | (a & c)
        numbers = [a ^ b ^ c, carry << 1 & WORD, *numbers[3:]]
    return numbers


def product_in_two_parts(weight: int, datum: int, negative: bool) -> list[int]:
    """Return two numbers whose sum is a product of mantissas and 0x5555_0000."""
    rows: list[int] = []
    ones: list[int] = []
    for i in range(8):
        digit = DIGITS[weight << 1 >> 2 * i & 7] * (-1 if negative else 1)
        rows.append(~(-digit * datum) & 0xFFFF if digit < 0 else digit * datum | 0x10000)
        ones.append(int(digit < 0))
    low, high = [rows[0]], [rows[4] << 8]
    for i in (1, 2, 3):
        low.append(rows[i] << 2 * i | ones[i - 1] << 2 * i - 2)
        high.append(rows[i + 4] << 2 * i + 8 | ones[i + 3] << 2 * i + 6)
    low.append(ones[3] << 6)
    high.append(ones[7] << 14)
    return add_in_two_parts(add_in_two_parts(low) + add_in_two_parts(high))


def sum_of_products(weights: list[int], data: list[int]) -> tuple[int, int]:
    """Return exponent and mantissa of a sum; its value is mantissa * 2**(exponent - 50)."""
    exponent, terms = products(weights, data)
    return exponent, sum(terms) if exponent < 63 else terms[0]


def products(weights: list[int], data: list[int]) -> tuple[int, list[int]]:
    """Return the exponent of all products, and their mantissas; each is the NaN if there is one."""
    for number in (*weights, *data):
        sign, exponent, mantissa = parts(number)
        if exponent == 31 and mantissa:
            return 63, [(mantissa << 27) - (sign << 37)] * len(weights)
    found: dict[int, tuple[int, int, int, bool]] = {}
    for number, (weight, datum) in enumerate(zip(weights, data, strict=True)):
        if weight & 0x7FFF and datum & 0x7FFF:
            (s, e, m), (t, f, n) = parts(weight), parts(datum)
            left = (m | (1024 if e else 0)) << ((e & 3) if e else 1)
            right = (n | (1024 if f else 0)) << ((f & 3) if f else 1)
            found[number] = ((e >> 2) + (f >> 2), left, right, s != t)
    largest = max((each[0] for each in found.values()), default=0)
    terms = [0] * len(weights)
    for number, (exponent, left, right, negative) in found.items():
        shift = 4 * (largest - exponent)
        if shift < 32:
            first, second = product_in_two_parts(left, right, negative)
            terms[number] = (first >> shift) + (second >> shift) - (0x5555_0000 >> shift)
    return 4 * largest, terms


def accumulate(accumulator: tuple[int, int], addend: tuple[int, int]) -> tuple[int, int]:
    """Return exponent and mantissa of an accumulator to which a sum of products is added."""
    (exponent, mantissa), (other, value) = accumulator, addend
    if value == 0:
        return accumulator
    if exponent == 255 or other == 63:
        top = mantissa >> 29 if exponent == 255 else value >> 27
        return 255, top << 29
    left = 0
    while left < 37 and value << left >> 37 & 1 == value << left >> 36 & 1:
        left += 1
    other = other - left + 49
    exponent = exponent if mantissa else 0
    largest = max(exponent, other)
    own, rest = shifted(mantissa, largest - exponent)
    theirs, their_rest = shifted(value << left + 2, largest - other)
    rest |= their_rest
    total = own + theirs
    if not -(2**39) <= total < 2**39:
        guard, sticky, number, moved = total & 1, rest != 0, total >> 1, largest + 1
    else:
        left, sign = 0, total < 0
        while left < 39 and bool(total >> 38 - left & 1) == sign:
            left += 1
        whole = ((total & MANTISSA) << 40 | rest) << left
        number = whole >> 40 & MANTISSA
        number -= (number >> 39) << 40
        guard, sticky = whole >> 39 & 1, whole & (1 << 39) - 1 != 0
        moved = largest - left
    rounded = number + int(guard and (number >= 0 or sticky))
    if rounded == 2**39:
        rounded, moved = 2**38, moved + 1
    elif number < 0 and rounded == 0:
        rounded, moved = -(2**39), moved + 1
    return (moved & 255 if rounded else 0), rounded


def shifted(mantissa: int, distance: int) -> tuple[int, int]:
    """Return a mantissa shifted right, and what is shifted out, at the top of 40 bits."""
    if distance > 40:
        return 0, 0
    return mantissa >> distance, (mantissa & (1 << distance) - 1) << 40 - distance


def fp32(accumulator: tuple[int, int]) -> int:
    """Return the bits of the number of an accumulator in 32 bits."""
    exponent, mantissa = accumulator
    sign = int(mantissa < 0) << 31
    if exponent == 255:
        return sign | 255 << 23 | (mantissa >> 29 & 1023)
    size = abs(mantissa)
    top, more = (size + (1 << 14)) >> 15, 0
    if top >> 24:
        top, more = top >> 1, 1
    moved = exponent + 64 + more if mantissa else 0
    return sign | (moved & 255) << 23 | top & 0x7FFFFF
