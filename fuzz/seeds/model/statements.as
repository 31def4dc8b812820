// Every kind of statement.
def Statements {
    types {
        Small = [0..3]
        Mode = [Off | On | Slow]
        Flags = list<Bool>
    }
    constants {
        /// Overridable: `--set MOST=2`.
        MOST: Small = 3
        STEPS = [1, 2]
    }
    functions {
        fn capped(n: int) -> Small = if n < 0 then 0 else if n > MOST then MOST else n
        fn total(xs: list<Small>) -> int = match xs { [] => 0, [first, ..rest] => first + total(rest) }
    }
    state { n: Small  m: Small  mode: Mode  xs: list<Small>  last: Small?  for: Small  var: Small  let: list<Small> }
    init { n := 0  m := 0  mode := Off  xs := []  last := none  for := 0  var := 0  let := [0] }
    actions {
        // At once, and one after the other.
        ?swap() if True then { n := m, m := n }
        ?chain(by: Small) if n + by <= 3 then { n := n + by then m := n; mode := On then { } }
        // A choice, nested, with names and guards.
        @req("R-1") @weight(2)
        ?go(by: Small)
            if mode != Off
            then {
                slow: when by > 1 {
                    mode := Slow
                    { n := by } [] { n := 0 }
                }
                [] fast: { mode := On }
                [] when by == 0 { }
            }
        // No choice.
        ?set(by: Small)
            if True
            then {
                if by == 0 then { mode := Off }
                else if let some(k) = last && k < by then { mode := On  n := k }
                else { mode := Slow }
                if by == 3 then { last := none }
            }
        // Locals, and names from patterns that keep their value.
        ?pop()
            if let some(first) = xs.first()
            then {
                let rest = xs.drop(1)
                var sum := 0
                xs := rest
                when let [second, ..more] = rest && second > 0 { sum := first + second } [] { }
                n := capped(sum)
                last := some(first)
            }
        // Loops over numbers and lists of known length.
        ?fill()
            if xs.is_empty()
            then {
                for i in 0..2 { xs := xs + [i] }
                for step in STEPS { if n + step <= 3 then { n := n + step } }
                let ys = [m, n]
                for y in ys { xs[y] := m }
            }
        !sum(s: int) if s == total(xs) then { }
        // Words that are names where they are assigned.
        ?words(by: Small)
            if True
            then {
                { for := by } [] { var := by  let := [by] then let[0] := 1 }
            }
        tick() if mode == Slow then { { n := 0 } [] { n := 1 } }
        tick() if mode == On then { mode := Off }
    }
}
