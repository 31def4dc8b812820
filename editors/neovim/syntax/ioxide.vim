" Colours for ioxide's language; the language server adds those that know what a name means.
if exists('b:current_syntax')
  finish
endif
syntax keyword ioxideDeclaration model system observed input output var clock const type enum record fn state any purpose test use from hide expose as between and
syntax keyword ioxideWord if then else match when on emit internal quiet send expect reset reach always sometimes assume every followed by within let for in exists forall count is
syntax keyword ioxideType bool int real string list set map fifo bag
syntax keyword ioxideValue true false none some hit miss
syntax match ioxideNumber /\<[0-9][0-9_]*\(\.[0-9][0-9_]*\)\?\(ns\|us\|ms\|s\|min\|h\)\?\>/
syntax match ioxideAttribute /@\(req\|weight\)\>/
syntax match ioxideComment /\/\/.*$/ contains=@Spell
syntax match ioxideDoc /\/\/\/\([^\/].*\)\?$/ contains=@Spell
syntax match ioxideName /`[^`]\+`/
syntax region ioxideString start=/"/ skip=/\\./ end=/"/ oneline
highlight default link ioxideDeclaration Structure
highlight default link ioxideWord Keyword
highlight default link ioxideType Type
highlight default link ioxideValue Constant
highlight default link ioxideNumber Number
highlight default link ioxideAttribute PreProc
highlight default link ioxideComment Comment
highlight default link ioxideDoc SpecialComment
highlight default link ioxideString String
highlight default link ioxideName Identifier
let b:current_syntax = 'ioxide'
