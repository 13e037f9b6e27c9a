"""Trains a classifier of flowers, and answers for the rows that retrai holds back."""

import csv
import os

from sklearn.linear_model import LogisticRegression


def read(path: str) -> list[dict[str, str]]:
    """The rows of a CSV file."""
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def features(rows: list[dict[str, str]]) -> list[list[float]]:
    """What the model sees of each row."""
    return [[float(row["length"]), float(row["width"])] for row in rows]


rows = read("train.csv")
model = LogisticRegression()
model.fit(features(rows), [row["kind"] for row in rows])

if "RETRAI_TEST_FEATURES" in os.environ:
    answers = model.predict(features(read(os.environ["RETRAI_TEST_FEATURES"])))
    with open(os.environ["RETRAI_PREDICTIONS"], "w", encoding="utf-8") as file:
        file.write("\n".join(["prediction", *answers]) + "\n")
