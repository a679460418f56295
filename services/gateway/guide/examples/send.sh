TO=0x1111111111111111111111111111111111111111

curl -sS -w '\n' "$BASE_URL/sends" -H "Authorization: $SESSION" -H 'Content-Type: application/json' \
  -d "{\"authorization\":$(bun authorization.ts $TO 500000)}"
