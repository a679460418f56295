# SANDBOX is the origin of the verification link, WALLET the user's address.
curl -sS -w '\n' "$SANDBOX/control/identity/$WALLET" -H 'Content-Type: application/json' \
  -d '{"verdict":"approved"}'
