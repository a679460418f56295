ALTER TABLE "payments"."refunds" ADD COLUMN "evidence_due_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payments"."refunds" ADD COLUMN "next_check_at" timestamp (3) with time zone;--> statement-breakpoint
CREATE INDEX "refunds_next_check" ON "payments"."refunds" USING btree ("next_check_at") WHERE "payments"."refunds"."next_check_at" is not null;