//! The label on a parcel.

/// The address in upper case, one line each, without empty lines.
pub fn label(address: &str) -> String {
    address
        .lines()
        .map(|line| line.trim().to_uppercase())
        .collect::<Vec<_>>()
        .join("\n")
}
