# SANDBOX is what the verification link begins with, WALLET the address of the person.
curl -sS "$SANDBOX/control/identity/$WALLET" -H 'Content-Type: application/json' \
  -d '{"verdict":"approved"}'
