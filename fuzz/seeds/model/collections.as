def Shelf {
    types {
        Key = [a | b]
        Item = [0..3]
    }
    state {
        queue: list<Item>
        seen: set<Item>
        held: map<Key, Item>
        owed: int?
    }
    init {
        queue := []
        seen := {}
        held := {}
        owed := none
    }
    actions {
        ?put(k: Key, x: Item)
            if queue.length() < 3 && !held.has(k) && owed == none
            then {
                queue := queue + [x]
                seen := seen + {x}
                held := held.with(k, x)
            }
        ?ask(k: Key)
            if held.has(k) && owed == none
            then {
                owed := some(held[k] + [i for i in queue if i > 0].sum())
                queue := queue.drop(1)
            }
        !told(n: int)
            if let some(m) = owed && n == m && forall i in queue: seen.has(i)
            then {
                owed := none
                held := held.without(a)
            }
    }
}
