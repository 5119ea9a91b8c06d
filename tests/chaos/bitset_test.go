package chaos

import "math/bits"

// bitset holds serial numbers from 0 on.
type bitset struct{ words []uint64 }

// set returns false when the number was there.
func (s *bitset) set(number uint64) bool {
	word, bit := number/64, uint64(1)<<(number%64)
	for uint64(len(s.words)) <= word {
		s.words = append(s.words, 0)
	}
	if s.words[word]&bit != 0 {
		return false
	}
	s.words[word] |= bit
	return true
}

// countBelow returns how many numbers below the limit are there.
func (s *bitset) countBelow(limit uint64) int64 {
	var count int
	for i, word := range s.words {
		if uint64(i)*64 >= limit {
			break
		}
		if rest := limit - uint64(i)*64; rest < 64 {
			word &= 1<<rest - 1
		}
		count += bits.OnesCount64(word)
	}
	return int64(count)
}
