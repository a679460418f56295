QUOTE=$(curl -sS "$BASE_URL/quote" -H 'Content-Type: application/json' \
  -d '{"pair":"USD/IDR"}' | jq -r .id)

# A quote is no debt: without one it is refused, with `x-error-code: nothing_owed` among the headers.
curl -sS -i "$BASE_URL/settlements" -H "Authorization: $SESSION" \
  -H 'Content-Type: application/json' -d "{\"quoteId\":\"$QUOTE\"}"
