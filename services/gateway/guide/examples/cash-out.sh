QUOTE=$(curl -sS "$BASE_URL/quote" -H 'Content-Type: application/json' \
  -d '{"pair":"USD/IDR","use":"pay_out"}' | jq -r .id)

TREASURY=$(curl -sS "$BASE_URL/config" | jq -r .chain.treasury)

# Keep the body: if there is no response, send the same bytes again.
jq -n --arg quoteId "$QUOTE" --argjson authorization "$(bun authorization.ts "$TREASURY" 1000000)" \
  '{ quoteId: $quoteId, authorization: $authorization,
     bank: { channelCode: "ID_BCA", accountNumber: "1234567890", accountHolderName: "Sari Dewi" } }' \
  > cash-out.json

curl -sS -w '\n' "$BASE_URL/cashouts" -H "Authorization: $SESSION" \
  -H 'Content-Type: application/json' -d @cash-out.json
