# DELIVERY is the provider's webhook for a paid checkout. WEBHOOK_TOKEN is the callback token of its account.
DELIVERY='{"event":"payment_session.completed","data":{"payment_session_id":"ps-6a0c1d2e3f4a5b6c7d8e9f00"}}'

for time in first second; do
  curl -sS -w '\n' "$BASE_URL/webhooks/payments" -H "x-callback-token: $WEBHOOK_TOKEN" \
    -H "webhook-id: guide-$WALLET" -H 'Content-Type: application/json' -d "$DELIVERY"
done
