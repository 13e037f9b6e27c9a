//! Counts pairs.

/// How many pairs of different places hold equal numbers.
pub fn equal_pairs(numbers: &[u32]) -> u64 {
    let mut found = 0;
    for (place, first) in numbers.iter().enumerate() {
        for second in &numbers[place + 1..] {
            if first == second {
                found += 1;
            }
        }
    }
    found
}
