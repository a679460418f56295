# The session is one wallet signature, valid for a day, which curl itself cannot make.
export SESSION="$(bun session.ts)"
export WALLET="$(echo "$SESSION" | cut -c 9-50)"

curl -sS -w '\n' "$BASE_URL/me" -H "Authorization: $SESSION"

curl -sS -w '\n' "$BASE_URL/me/country" -H "Authorization: $SESSION" \
  -H 'Content-Type: application/json' -d '{"country":"ID"}'

curl -sS -w '\n' -X POST "$BASE_URL/me/verification" -H "Authorization: $SESSION"
