def search(rows, wanted):
    for row in rows:
        if row is None:
            continue
        while row.more():
            if row.next() == wanted:
                break
        else:
            log(row)
            return row
        if row.done:
            break
    else:
        fail()
    return [cell.close() for cell in rows if cell]
