//! Prints what libtest's benchmarks print, and the result.

use std::hint::black_box;
use std::time::Instant;

fn main() {
    let numbers: Vec<u32> = (0..4000).map(|n| n * n % 97).collect();
    let (mut result, rounds) = (0, 5);
    let begun = Instant::now();
    for _ in 0..rounds {
        result = pairs::equal_pairs(black_box(&numbers));
    }
    let ns = begun.elapsed().as_nanos() / rounds;
    println!("test equal_pairs ... bench: {ns} ns/iter (+/- 0)");
    println!("equal pairs: {result}");
}
