use parcel::label::label;

#[test]
fn lines_are_trimmed() {
    assert_eq!(label(" Ada Lovelace \nSt James's Square"), "ADA LOVELACE\nST JAMES'S SQUARE");
}

#[test]
fn empty_lines_are_left_out() {
    assert_eq!(label("Ada\n\n  \nLondon"), "ADA\nLONDON");
}
