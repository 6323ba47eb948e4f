//! The positions of a struct's fields by their names: a hash table, because every field of every object is looked up.

/// The places of names in a list of them.
#[derive(Debug, Clone, Default)]
pub(super) struct Names {
    /// One more than a place, or 0. A name stands where its hash says, or behind that. At least half of it is 0.
    slots: Box<[u16]>,
}

impl Names {
    /// # Panics
    /// Beyond 65,534 names.
    pub(super) fn of<'n>(names: impl ExactSizeIterator<Item = &'n str>) -> Names {
        let mut slots = vec![0; (2 * names.len()).next_power_of_two()];
        for (place, name) in (1..).zip(names) {
            let mut at = hash(name) & (slots.len() - 1);
            while slots[at] != 0 {
                at = (at + 1) & (slots.len() - 1);
            }
            slots[at] = place;
        }
        Names { slots: slots.into() }
    }

    /// The place of a name, where `name_at` says which name is at a place.
    pub(super) fn find<'n>(&self, name: &str, name_at: impl Fn(usize) -> &'n str) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = hash(name) & mask;
        loop {
            let place = usize::from(self.slots[at]).checked_sub(1)?;
            if name_at(place) == name {
                return Some(place);
            }
            at = (at + 1) & mask;
        }
    }
}

/// A hash that is quick to make: names of fields differ in length and in a few of their letters.
fn hash(name: &str) -> usize {
    let bytes = name.as_bytes();
    let letter = |at: usize| usize::from(bytes.get(at).copied().unwrap_or_default());
    let sum = bytes.len() + 31 * letter(0) + 131 * letter(bytes.len() / 2) + 521 * letter(bytes.len().wrapping_sub(1));
    sum ^ (sum >> 5)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_found_and_others_are_not() {
        let all: Vec<String> = (0..1000).map(|number| format!("field{number}")).collect();
        for count in [0, 1, 2, 3, 65, 1000] {
            let names = Names::of(all[..count].iter().map(String::as_str));
            for (place, name) in all.iter().enumerate() {
                assert_eq!(names.find(name, |at| &all[at]), (place < count).then_some(place), "{name} of {count}");
            }
            assert_eq!(names.find("", |at| &all[at]), None);
        }
    }
}
