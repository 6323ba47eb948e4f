//! Tables of which some rows are made anew.

use std::collections::BTreeMap;

/// The table `present` with the rows of these names replaced or added, in the order of `names`; rows of other names are left out. `head` is its
/// first two lines, and a row begins with a cell that is its name.
pub(crate) fn with_rows(head: &str, present: &str, made: &[(&str, String)], names: &[&str]) -> String {
    let named = |row: &str| row.split('|').nth(1).map(|name| name.trim().to_owned());
    let mut rows: BTreeMap<usize, String> = BTreeMap::new();
    let mut put = |name: &str, row: String| {
        if let Some(place) = names.iter().position(|known| *known == name) {
            rows.insert(place, row);
        }
    };
    for line in present.lines() {
        put(&named(line).unwrap_or_default(), format!("{line}\n"));
    }
    made.iter().for_each(|(name, row)| put(name, row.clone()));
    head.to_owned() + &rows.into_values().collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_takes_the_place_of_another() {
        let head = "| suite |\n| --- |\n";
        let one = |name, cell| (name, format!("| {name} | {cell} |\n"));
        let names = ["a", "b"];
        let table = with_rows(head, "", &[one("b", "old")], &names);
        assert_eq!(table, format!("{head}| b | old |\n"));
        let table = with_rows(head, &(table + "| gone | x |\n"), &[one("a", "new")], &names);
        assert_eq!(table, format!("{head}| a | new |\n| b | old |\n"));
    }
}
