//! What it costs to send a parcel.
//!
//! ```
//! use parcel::{Parcel, Zone};
//!
//! assert_eq!(parcel::postage(&Parcel::new(1_500), Zone::Inland), 649);
//! ```

pub mod label;

/// Where a parcel goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zone {
    Inland,
    Europe,
    World,
}

/// A parcel, by its weight.
#[derive(Clone, Debug)]
pub struct Parcel {
    grams: u32,
}

impl Parcel {
    pub fn new(grams: u32) -> Self {
        Parcel { grams }
    }
}

/// The postage in cents: a base price, and a step for every kilogram begun.
pub fn postage(parcel: &Parcel, zone: Zone) -> u32 {
    let (base, step) = match zone {
        Zone::Inland => (449, 100),
        Zone::Europe => (899, 250),
        Zone::World => (1899, 700),
    };
    base + step * (parcel.grams / 1000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kilogram_begun_counts() {
        assert_eq!(postage(&Parcel::new(1), Zone::Inland), 549);
        assert_eq!(postage(&Parcel::new(1_001), Zone::Inland), 649);
    }

    #[test]
    fn whole_kilograms_do_not_round_up() {
        assert_eq!(postage(&Parcel::new(3_000), Zone::Europe), 1649);
    }
}
