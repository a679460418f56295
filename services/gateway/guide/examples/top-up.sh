QUOTE=$(curl -sS "$BASE_URL/quote" -H 'Content-Type: application/json' \
  -d '{"pair":"USD/IDR"}' | jq -r .id)

CHECKOUT=$(curl -sS "$BASE_URL/topups" -H "Authorization: $SESSION" \
  -H 'Content-Type: application/json' \
  -d "{\"amount\":\"500000\",\"method\":\"qr\",\"quoteId\":\"$QUOTE\"}")
echo "$CHECKOUT"
export PAYMENT_ID="$(echo "$CHECKOUT" | jq -r .paymentId)"
