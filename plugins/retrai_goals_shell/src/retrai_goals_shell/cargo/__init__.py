"""Goals for Rust: cargo-test and rust-optimize."""
