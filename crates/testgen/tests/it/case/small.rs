//! The small systems that the published generator ships with, in our language: text, path, arcs per state of its cases.

/// Answers within five seconds.
const BASIC: &str = "model Basic { input In output Out clock cl
    state q0 { tr1: on In { reset cl } -> q1 }
    state q1 { tr2: emit Out when cl <= 5 -> q0 } }";

/// The absolute value of a number.
const ABSOLUTE: &str = "model Absolute { input In(n: int) output Out(n: int) var x: int clock cl
    state q0 { tr1: on In when -42 <= n <= 42 { x = n, reset cl } -> q1 }
    state q1 {
        tr2: emit Out(n: x) when x >= 0 && cl <= 5 -> q0
        tr3: emit Out(n: -x) when x < 0 && cl <= 5 -> q0
    } }";

/// Pays out what the account holds.
const CASH: &str = "model Cash {
    input Withdraw(n: int) output Dispense(n: int) output Insufficient(n: int) output Balance(n: int)
    var amount: int var balance: int = 100 clock cl
    state idle { tr1: on Withdraw when n > 0 { amount = n, reset cl } -> verify }
    state verify {
        tr2: emit Dispense(n: amount) when amount <= balance && cl <= 10 { balance = balance - amount } -> idle
        tr3: emit Insufficient(n: amount) when amount > balance && cl <= 2 { reset cl } -> print
    }
    state print { tr4: emit Balance(n: balance) when cl <= 5 -> idle } }";

/// Serves a drink in the time the client gives it.
const BEVERAGE: &str = "model Beverage {
    input Money(n: int) input Choice(drink: int, bound: real) output Serve(drink: int, change: int) output \
                        Return(n: int)
    var x: int var y: int var t: real var stock: int = 42 clock cl
    state q0 { tr1: on Money when n >= 1 { x = n, reset cl } -> q1 }
    state q1 {
        tr2: on Choice when x - 1 < stock && bound <= 5 && bound >= 0 && cl <= 1 { y = drink, t = bound, \
                        reset cl } -> q2
        tr4: emit Return(n: x) when x - 1 >= stock && cl <= 1 -> q0
    }
    state q2 { tr3: emit Serve(drink: y, change: x - 1) when cl <= t { stock = stock - (x - 1) } -> q0 } }";

/// For each system its text, a path, and the numbers of arcs of the states of its case.
pub const PUBLISHED: [(&str, &str, &[usize]); 4] = [
    (BASIC, "tr1,tr2", &[3, 4]),
    (ABSOLUTE, "tr1,tr2", &[3, 4]),
    (CASH, "tr1,tr2", &[5, 6]),
    (BEVERAGE, "tr1,tr2,tr3", &[4, 4, 5]),
];
