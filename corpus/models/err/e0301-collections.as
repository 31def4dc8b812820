def Wrong {
    types {
        Small = [0..3]
        Queue = list<Small>
        Broken = list
        Pairs = map<Small>
        Odd = set<Missing>
        Nothing =
        Number = 3
        Reply = [Ok | Error(code: Small)]
        Job = { id: Small, Bool }
    }
    state { q: Queue  m: map<list<Small>, Small>  s: set<Small>  r: Reply }
    init { q := [1, True]  m := {}  s := [1]  r := Error(7) }
    actions {
        ?put(x: Bool) if q.length() < 3 then { q := q + [x] }
        ?at(x: Small) if q.contains(True) then { q[x] := Ok }
        ?twice(x: Small) if let some(y) = q then { s := {y} }
        ?set(x: Small) if let Error(code) = r && code == True then { s[x] := 1 }
        !got(x: Small) if let some(y) = q.first( && x == y then { q := q.drop(1) }
        !last(x: Small) if x == q[0] then { q[0] = 3 }
    }
}
