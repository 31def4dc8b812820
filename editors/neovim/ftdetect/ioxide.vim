autocmd BufRead,BufNewFile *.iox setfiletype ioxide
