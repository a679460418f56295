QUOTE=$(curl -sS "$BASE_URL/quote" -H 'Content-Type: application/json' \
  -d '{"pair":"USD/IDR"}' | jq -r .id)

# Without a debt, the request is refused with the header `x-error-code: nothing_owed`.
curl -sS -i -w '\n' "$BASE_URL/settlements" -H "Authorization: $SESSION" \
  -H 'Content-Type: application/json' -d "{\"quoteId\":\"$QUOTE\"}"
