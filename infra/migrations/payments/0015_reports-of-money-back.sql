ALTER TABLE "payments"."refunds" DROP CONSTRAINT "refunds_origin";--> statement-breakpoint
ALTER TABLE "payments"."reversals" DROP CONSTRAINT "reversals_amounts";--> statement-breakpoint
ALTER TABLE "payments"."refunds" ALTER COLUMN "refunded_minor" DROP NOT NULL;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "extended_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payments"."payments" ADD COLUMN "frozen_at" timestamp (3) with time zone;--> statement-breakpoint
ALTER TABLE "payments"."refunds" ADD COLUMN "object_id" text;--> statement-breakpoint
CREATE INDEX "payments_lost_hold" ON "payments"."payments" USING btree ("wallet") WHERE "payments"."payments"."frozen_at" is not null and "payments"."payments"."hold_ended_at" is null;--> statement-breakpoint
CREATE INDEX "refunds_payment" ON "payments"."refunds" USING btree ("payment_id");--> statement-breakpoint
ALTER TABLE "payments"."refunds" ADD CONSTRAINT "refunds_origin" CHECK ("payments"."refunds"."origin" in ('refund', 'ordered', 'chargeback', 'void'));--> statement-breakpoint
ALTER TABLE "payments"."reversals" ADD CONSTRAINT "reversals_amounts" CHECK ("payments"."reversals"."lost_micro" >= 0 and "payments"."reversals"."made_good_micro" >= 0 and "payments"."reversals"."made_good_micro" <= "payments"."reversals"."lost_micro");