# One wallet signature, valid for a day: curl itself cannot sign.
export SESSION="$(bun session.ts)"

curl -sS "$BASE_URL/me" -H "Authorization: $SESSION"

curl -sS "$BASE_URL/me/country" -H "Authorization: $SESSION" \
  -H 'Content-Type: application/json' -d '{"country":"ID"}'

curl -sS -X POST "$BASE_URL/me/verification" -H "Authorization: $SESSION"
