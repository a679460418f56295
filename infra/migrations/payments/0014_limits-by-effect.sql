ALTER TABLE "payments"."payments" ADD COLUMN "topup_micro" numeric(78,0) DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "topup_at" timestamp (3) with time zone DEFAULT now() NOT NULL;--> statement-breakpoint
CREATE INDEX "payments_topups_of_wallet" ON "payments"."payments" USING btree ("wallet","topup_at") WHERE "payments"."payments"."topup_micro" > 0;--> statement-breakpoint
-- Older ones count towards no limit any more.
UPDATE "payments"."payments" SET "topup_micro" = "ausd_micro", "topup_at" = "created_at"
  WHERE "kind" = 'topup' AND ("created_at" > now() - interval '2 days' OR "state" IN ('opening', 'awaiting_payment'));
