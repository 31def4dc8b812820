/// The machine, but if there is no cup it keeps a coin.
def Vending {
    types {
        Money = [0..4]
        Coin = [One | Two]
        Drink = [Water | Tea]
    }
    constants { PRICE_OF_TEA = 3 }
    functions {
        fn worth(c: Coin) -> int = match c { One => 1, Two => 2 }
        fn price(d: Drink) -> int = match d { Water => 1, Tea => PRICE_OF_TEA }
    }
    state { credit: Money  making: Drink?  change: list<Coin> }
    init { credit := 0  making := none  change := [] }
    actions {
        /// A coin that would be too much falls through.
        ?insert(c: Coin)
            if making == none && change.is_empty()
            then {
                let sum = credit + worth(c)
                if sum > 4 then { change := [c] }
                else { credit := sum }
            }
        ?choose(d: Drink)
            if making == none && change.is_empty() && credit >= price(d)
            then {
                credit := credit - price(d)
                sells: { making := some(d) }
                // Without a cup some of the money comes back.
                [] no_cup: when d == Tea { credit := credit + price(d) - 1 }
                // What is left is given back, in whatever coins there are.
                then for round in 1..4 {
                    twos: when credit >= 2 { change := change + [Two]  credit := credit - 2 }
                    [] ones: when credit >= 1 { change := change + [One]  credit := credit - 1 }
                    [] none_left: when credit == 0 { }
                }
            }
        !drink(d: Drink) if making == some(d) then { making := none }
        !coin(c: Coin)
            if let [first, ..rest] = change && making == none && c == first
            then { change := rest }
    }
}
