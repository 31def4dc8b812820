//! Three classes to test. With FAULT=1 in the environment each has one fault: the same as in `classes.py`.

fn has_fault() -> bool {
    std::env::var("FAULT").is_ok_and(|value| value == "1")
}

/// A queue with room for four numbers, in a ring.
pub struct Queue {
    cells: [i64; 4],
    head: usize,
    size: usize,
    has_fault: bool,
}

impl Default for Queue {
    fn default() -> Self {
        Self { cells: [0; 4], head: 0, size: 0, has_fault: has_fault() }
    }
}

impl Queue {
    /// Adds a number; returns false if there is no room.
    pub fn put(&mut self, n: i64) -> bool {
        if self.size == 4 {
            return false;
        }
        self.cells[(self.head + self.size) % 4] = n;
        self.size += 1;
        true
    }

    /// Takes out the oldest number.
    pub fn get(&mut self) -> Option<i64> {
        if self.size == 0 {
            return None;
        }
        let n = self.cells[self.head];
        // The fault: the ring is taken to be one cell shorter once it was full.
        self.head = (self.head + 1) % if self.has_fault && self.size == 4 { 3 } else { 4 };
        self.size -= 1;
        Some(n)
    }
}

/// A cache with room for three keys, which forgets the one that was not used for the longest time.
pub struct Cache {
    values: Vec<(String, i64)>,
    has_fault: bool,
}

impl Default for Cache {
    fn default() -> Self {
        Self { values: Vec::new(), has_fault: has_fault() }
    }
}

impl Cache {
    /// Stores a value.
    pub fn store(&mut self, key: &str, n: i64) {
        let known = self.values.iter().position(|(name, _)| name == key);
        match known {
            // The fault: writing a key again does not count as using it.
            Some(at) if self.has_fault => self.values[at].1 = n,
            Some(at) => {
                self.values.remove(at);
                self.values.push((key.to_owned(), n));
            }
            None => self.values.push((key.to_owned(), n)),
        }
        if self.values.len() > 3 {
            self.values.remove(0);
        }
    }

    /// Returns the value of a key.
    pub fn find(&mut self, key: &str) -> Option<i64> {
        let at = self.values.iter().position(|(name, _)| name == key)?;
        let found = self.values.remove(at);
        let n = found.1;
        self.values.push(found);
        Some(n)
    }
}

/// An account in cents that may be overdrawn by 10,000, and is frozen after three refusals in a row.
pub struct Account {
    balance: i64,
    refusals: u8,
    has_fault: bool,
}

impl Default for Account {
    fn default() -> Self {
        Self { balance: 0, refusals: 0, has_fault: has_fault() }
    }
}

impl Account {
    /// Adds money; returns the balance.
    pub fn deposit(&mut self, amount: i64) -> i64 {
        self.balance += amount;
        self.balance
    }

    /// Takes money out, if the account allows it; returns the answer.
    pub fn withdraw(&mut self, amount: i64) -> &'static str {
        if self.refusals == 3 {
            return "frozen";
        }
        if self.balance - amount < -10_000 {
            self.refusals += 1;
            return "refused";
        }
        self.balance -= amount;
        // The fault: an account that is overdrawn keeps its count of refusals.
        if !(self.has_fault && self.balance < 0) {
            self.refusals = 0;
        }
        "paid"
    }
}
