curl -sS -w '\n' "$SANDBOX/control/sessions/$PAYMENT_ID/pay" -H 'Content-Type: application/json' \
  -d '{"channel_code":"QRIS"}'
