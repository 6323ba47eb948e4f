//! The queues that a flow is dealt, out of all: some of them, the same ones at any time, so that two flows seldom share all theirs. Pure.
//!
//! Follows `pkg/util/shufflesharding/dealer.go` and `hashFlowID` of `pkg/util/flowcontrol/apf_controller.go` of `k8s.io/apiserver`
//! (v0.37.1).

use aws_lc_rs::digest::{SHA256, digest};

/// The hash of a flow, by the name of its flow schema and what tells it from others.
pub(super) fn hash(schema: &str, distinguisher: &str) -> u64 {
    let sum = digest(&SHA256, &[schema.as_bytes(), &[0], distinguisher.as_bytes()].concat());
    let (first, _) = sum.as_ref().split_first_chunk().expect("a sum of 32 bytes");
    u64::from_le_bytes(*first)
}

/// The numbers of `size` queues of `deck`, by the hash.
pub(super) fn deal(mut hash: u64, deck: u32, size: u32) -> impl Iterator<Item = u32> {
    // As each card is dealt without those before it, its number counts only the others.
    let mut dealt: Vec<u32> = Vec::new();
    (0..size.min(deck)).map(move |place| {
        let left = u64::from(deck - place);
        let among = u32::try_from(hash % left).expect("it is less than the deck");
        hash /= left;
        dealt.push(among);
        dealt[..dealt.len() - 1].iter().rev().fold(among, |card, earlier| card + u32::from(card >= *earlier))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The hands that Go's dealer deals.
    #[test]
    fn hands_are_those_of_go() {
        for (hash, deck, size, expected) in [
            (0, 5, 3, vec![0, 1, 2]),
            (1, 5, 3, vec![1, 0, 2]),
            (0x0123_4567_89ab_cdef, 128, 6, vec![111, 33, 73, 64, 85, 1]),
            (u64::MAX, 64, 8, vec![63, 15, 55, 23, 31, 2, 39, 34]),
            (7, 1, 1, vec![0]),
        ] {
            let hand: Vec<u32> = deal(hash, deck, size).collect();
            assert_eq!(hand, expected, "{hash}");
        }
    }

    #[test]
    fn flows_are_hashed_as_by_go() {
        assert_eq!(hash("fs", "d"), 1_158_174_130_138_486_148);
    }
}
