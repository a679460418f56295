curl -sS "$BASE_URL/verify/$WALLET" | jq '{ score, cycles, outcomes: [.history.cycles[]?.outcome] }'
