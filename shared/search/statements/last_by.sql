-- $1 tenant, $2 time
select max({key}) from {items} where tenant = $1 and created_at <= $2
