UPDATE "payments"."refunds" SET "next_check_at" = now()
WHERE "status" IN ('pending', 'unknown') AND "next_check_at" IS NULL AND CASE
  WHEN "origin" <> 'void' THEN "id" NOT LIKE 'listed:%' AND "id" NOT LIKE 'chargeback:%'
  WHEN "object_id" IS NULL THEN "id" <> 'void:' || "provider_payment_id" AND "id" NOT LIKE 'void:txn%'
  ELSE "id" = 'void:' || "object_id"
END;
