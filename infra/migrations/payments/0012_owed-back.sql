ALTER TABLE "payments"."journal" DROP CONSTRAINT "journal_account";--> statement-breakpoint
ALTER TABLE "payments"."journal" ADD CONSTRAINT "journal_account" CHECK ("payments"."journal"."account" in ('provider_id', 'provider_my', 'treasury', 'credit_line', 'lanes', 'clawback', 'owed_back', 'promises', 'collateral', 'collateral_held', 'repaid', 'repaid_held', 'payouts', 'returns', 'suspense', 'exchange', 'spread', 'fees_earned', 'capital', 'fees', 'waived', 'gas', 'drips'));--> statement-breakpoint
WITH "needless" AS MATERIALIZED (
  SELECT "payment_id" || '/reversal' AS "item", "payment_id" || '/reversal/' || gen_random_uuid() AS "posting", "made_good_micro" - "lost_micro" AS "micro"
  FROM "payments"."reversals" WHERE "made_good_micro" > "lost_micro"
)
INSERT INTO "payments"."journal" ("posting", "line", "event", "item", "account", "asset", "amount")
SELECT "posting", "line", 'repaid needlessly', "item", "account", 'AUSD', "sign" * "micro"
FROM "needless" CROSS JOIN (VALUES (0, 'clawback', 1), (1, 'owed_back', -1)) AS "lines" ("line", "account", "sign");
