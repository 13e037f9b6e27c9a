"""Counts the pairs of numbers that add up to a target."""

import sys


def count_pairs(numbers: list[int], target: int) -> int:
    found = 0
    for index, first in enumerate(numbers):
        for second in numbers[index + 1 :]:
            if first + second == target:
                found += 1
    return found


def main() -> None:
    with open(sys.argv[1], encoding="utf-8") as lines:
        numbers = [int(line) for line in lines]
    for target in (1000, 5000, 9999):
        print(target, count_pairs(numbers, target))


if __name__ == "__main__":
    main()
