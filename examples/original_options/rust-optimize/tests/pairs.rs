use pairs::equal_pairs;

#[test]
fn three_equal_numbers_are_three_pairs() {
    assert_eq!(equal_pairs(&[5, 7, 5, 5]), 3);
}

#[test]
fn different_numbers_are_none() {
    assert_eq!(equal_pairs(&[1, 2, 3]), 0);
}
